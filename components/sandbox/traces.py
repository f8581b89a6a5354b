"""Whether a cell can leave anything in the process that runs it, seen from its text before it runs.

Where it cannot, the process may run the next cell of the episode, which is cheaper than a new one. What is not known
to be harmless counts as a trace, so the lists below cost time where they are too short, and nothing else.
"""

import ast
import builtins

_OF_PYTHON = (
    "abs all any bool chr dict divmod enumerate filter float frozenset int isinstance len list map max min ord pow "
    "print range repr reversed round set sorted str sum tuple zip Exception ArithmeticError AttributeError IndexError "
    "KeyError LookupError NameError RuntimeError TypeError ValueError ZeroDivisionError True False None"
)
_OF_TEXTS = (
    "capitalize casefold center count endswith find index isalnum isalpha isdecimal isdigit islower isnumeric isspace "
    "istitle isupper join ljust lower lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition "
    "rsplit rstrip split splitlines startswith strip swapcase title upper zfill"
)
_OF_COLLECTIONS = (
    "add append clear copy difference discard extend get insert intersection issubset issuperset items keys pop "
    "popitem remove reverse setdefault sort symmetric_difference union update values"
)
_OF_FRAMES = (
    "between columns drop_duplicates dropna duplicated empty fillna groupby head iloc index isin isna iterrows "
    "itertuples loc mean median nunique notna nlargest nsmallest quantile reset_index shape size sort_values std "
    "tail to_list tolist unique value_counts var"
)
_ATTRIBUTES = frozenset(f"{_OF_TEXTS} {_OF_COLLECTIONS} {_OF_FRAMES} all any max min sum".split())
_OTHERS = frozenset(dir(builtins)) - frozenset(_OF_PYTHON.split())
_STATEMENTS = (
    ast.Import, ast.ImportFrom, ast.ClassDef, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await,
    ast.With, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Match,
)  # fmt: skip


def leaves_none(tree: ast.AST) -> bool:
    """Whether the code reaches nothing but its own variables and the functions that it was given.

    Source: of the paper's environment, where nothing survives from cell to cell (arXiv 2401.07128, section 3).
    """
    return all(_harmless(node) for node in ast.walk(tree))


def _harmless(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id not in _OTHERS and not node.id.startswith("__")
    if isinstance(node, ast.Attribute):
        return node.attr in _ATTRIBUTES and isinstance(node.ctx, ast.Load)
    return not isinstance(node, _STATEMENTS)
