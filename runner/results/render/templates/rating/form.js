const page = document.querySelector('main'), name = page.dataset.file, storageKey = 'sheet ' + page.dataset.set + ' ' + name;
const store = { get() { try { return JSON.parse(localStorage.getItem(storageKey)) || {}; } catch (e) { return {}; } },
  set(v) { try { localStorage.setItem(storageKey, JSON.stringify(v)); } catch (e) { } } };
const inputs = [...document.querySelectorAll('input, textarea')], sets = [...document.querySelectorAll('fieldset')];
const saved = store.get();
for (const one of inputs) {
  const value = saved[one.name] || [];
  if (one.type === 'radio' || one.type === 'checkbox') one.checked = value.includes(one.value);
  else one.value = value[0] || '';
}
function picked(key) {
  return inputs.filter(i => i.name === key && (i.tagName === 'TEXTAREA' || i.checked)).map(i => i.value);
}
function showOpen() {
  const open = sets.filter(s => !picked(s.dataset.key).length);
  const text = open.length ? open.length + ' of ' + sets.length + ' still open' : 'all filled';
  document.querySelector('output').textContent = text;
  return open;
}
document.addEventListener('change', event => {
  const box = event.target;
  const excludes = other => other.name === box.name && (other.value === 'none') !== (box.value === 'none');
  if (box.type === 'checkbox' && box.checked) inputs.filter(excludes).forEach(other => other.checked = false);
  const state = {};
  for (const one of inputs) state[one.name] = picked(one.name);
  store.set(state);
  showOpen();
});
const formula = /^\s*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]/;
const cell = text => '"' + (formula.test(text) ? "'" : '') + text.replaceAll('"', '""') + '"';
document.querySelector('button').addEventListener('click', () => {
  const open = showOpen();
  sets.forEach(s => s.classList.toggle('open', open.includes(s)));
  if (open.length) open[0].scrollIntoView({ block: 'center' });
  if (open.length && !confirm(open.length + ' are still open. Save what there is?')) return;
  const fields = page.dataset.fields.split(' '), rows = [['item', ...fields, 'note']];
  for (const item of document.querySelectorAll('article'))
    rows.push([item.id, ...[...fields, 'note'].map(f => picked(item.id + ' ' + f).join(';'))]);
  const text = '\uFEFF' + rows.map(row => row.map(cell).join(',')).join('\r\n') + '\r\n';
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
});
showOpen();
