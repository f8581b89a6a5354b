from components.arithmetic.substances import ALIASES, SUBSTANCES


def test_every_alias_means_a_substance():
    assert set(ALIASES.values()) <= set(SUBSTANCES)
    assert not set(ALIASES) & set(SUBSTANCES)


def test_masses_give_the_conversion_factors_of_laboratories():
    # mmol/L -> mg/dL, as on conversion charts
    factors = {"glucose": 18.02, "cholesterol": 38.67, "triglycerides": 88.5, "calcium": 4.008, "bun": 2.801}
    assert {name: round(SUBSTANCES[name].mass / 10, 1) for name in factors} == {
        name: round(factor, 1) for name, factor in factors.items()
    }
    assert round(SUBSTANCES["creatinine"].mass / 10, 1) == 11.3  # 88.4 umol/L are 1 mg/dL
    assert round(SUBSTANCES["bilirubin"].mass / 10, 1) == 58.5  # 17.1 umol/L are 1 mg/dL
