"""One HTML page per rater: the items to read, the rubric to fill, and a button that saves the sheet as CSV.

It needs no server and no network and runs nothing but its own script, whatever the texts hold; what was filled is
also kept in the browser until it is saved.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from components.rubrics.rubric import NONE, Field, Rubric

if TYPE_CHECKING:
    from runner.rating.drawing import Item

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 0 1rem 6rem; color: #1b1f24; }
article { border-top: 3px solid #57606a; margin-top: 2.5rem; padding-top: .5rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f6f8; padding: .75rem; margin: .25rem 0 1rem;
  max-height: 26rem; overflow-y: auto; font: 14px/1.45 ui-monospace, monospace; }
fieldset { border: 1px solid #b6bec8; margin: 0 0 1rem; padding: .5rem .75rem; }
label { display: block; padding: .15rem 0; } label b { font-weight: 600; }
img { max-width: 100%; max-height: 30rem; } textarea { width: 100%; box-sizing: border-box; font: inherit; }
footer { position: fixed; bottom: 0; left: 0; right: 0; background: #1b1f24; color: #fff; padding: .6rem 1rem;
  display: flex; gap: 1rem; justify-content: center; align-items: center; }
button { font: inherit; padding: .3rem 1rem; } .open > legend, .open h2 { color: #b42318; }
"""
_SCRIPT = """
const page = document.querySelector('main'), name = page.dataset.file, kept = 'sheet ' + page.dataset.set + ' ' + name;
const store = { get() { try { return JSON.parse(localStorage.getItem(kept)) || {}; } catch (e) { return {}; } },
  set(v) { try { localStorage.setItem(kept, JSON.stringify(v)); } catch (e) { } } };
const inputs = [...document.querySelectorAll('input, textarea')], sets = [...document.querySelectorAll('fieldset')];
const before = store.get();
for (const one of inputs) {
  const value = before[one.name] || [];
  if (one.type === 'radio' || one.type === 'checkbox') one.checked = value.includes(one.value);
  else one.value = value[0] || '';
}
function picked(key) {
  return inputs.filter(i => i.name === key && (i.tagName === 'TEXTAREA' || i.checked)).map(i => i.value);
}
function told() {
  const open = sets.filter(s => !picked(s.dataset.key).length);
  const text = open.length ? open.length + ' of ' + sets.length + ' still open' : 'all filled';
  document.querySelector('output').textContent = text;
  return open;
}
document.addEventListener('change', event => {
  const box = event.target;
  const beside = other => other.name === box.name && (other.value === 'none') !== (box.value === 'none');
  if (box.type === 'checkbox' && box.checked) inputs.filter(beside).forEach(other => other.checked = false);
  const state = {};
  for (const one of inputs) state[one.name] = picked(one.name);
  store.set(state);
  told();
});
const formula = /^\\s*[=+\\-@|%\\uFF1D\\uFF0B\\uFF0D\\uFF20]/;
const cell = text => '"' + (formula.test(text) ? "'" : '') + text.replaceAll('"', '""') + '"';
document.querySelector('button').addEventListener('click', () => {
  const open = told();
  sets.forEach(s => s.classList.toggle('open', open.includes(s)));
  if (open.length) open[0].scrollIntoView({ block: 'center' });
  if (open.length && !confirm(open.length + ' are still open. Save what there is?')) return;
  const fields = page.dataset.fields.split(' '), rows = [['item', ...fields, 'note']];
  for (const item of document.querySelectorAll('article'))
    rows.push([item.id, ...[...fields, 'note'].map(f => picked(item.id + ' ' + f).join(';'))]);
  const text = '\\uFEFF' + rows.map(row => row.map(cell).join(',')).join('\\r\\n') + '\\r\\n';
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
});
told();
"""


def form(rubric: Rubric, items: Mapping[str, Item], file: str) -> str:
    """The page for items by code; it saves ``file``."""
    hashed = b64encode(sha256(_SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{hashed}'"
    drawn = next(iter(items)).partition("-")[0]
    articles = "\n".join(
        _article(code, item, place, len(items), rubric) for place, (code, item) in enumerate(items.items(), 1)
    )
    note = f"<p>{escape(rubric.note)}</p>" if rubric.note else ""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width"><title>{escape(rubric.question)}</title><style>{_STYLE}</style>
</head><body><h1>{escape(rubric.question)}</h1>{note}
<p>Rate alone, and in this order. What you fill stays in this browser; save the sheet at the end and hand it back.</p>
<main data-file="{escape(file)}" data-set="{escape(drawn)}" data-fields="{escape(" ".join(rubric.fields))}">
{articles}
</main>
<footer><output></output><button type="button">Save {escape(file)}</button></footer>
<script>{_SCRIPT}</script></body></html>
"""


def _article(code: str, item: Item, place: int, of: int, rubric: Rubric) -> str:
    """One item: what is read, then what is filled."""
    texts = "\n".join(f"<h3>{escape(title)}</h3><pre>{escape(text)}</pre>" for title, text in item.texts.items())
    images = "".join(f'<p><img src="{escape(url)}" alt="an image of the question"></p>' for url in item.images)
    fields = "\n".join(_fieldset(f"{code} {name}", field) for name, field in rubric.fields.items())
    return f"""<article id="{escape(code)}"><h2>{place} of {of} ({escape(code)})</h2>
{texts}{images}
{fields}
<label>Note<textarea name="{escape(code)} note" rows="2"></textarea></label></article>"""


def _fieldset(key: str, field: Field) -> str:
    """The categories of a field as boxes."""
    kind = "radio" if field.pick == "one" else "checkbox"
    choices = dict(field.categories) | ({NONE: "None of these applies."} if field.pick == "several" else {})
    boxes = "\n".join(
        f'<label><input type="{kind}" name="{escape(key)}" value="{escape(name)}"> <b>{escape(name)}</b>'
        f" {escape(sentence)}</label>"
        for name, sentence in choices.items()
    )
    return f'<fieldset data-key="{escape(key)}"><legend>{escape(field.question)}</legend>\n{boxes}\n</fieldset>'
