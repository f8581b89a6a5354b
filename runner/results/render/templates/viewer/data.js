// Blocks of the page: base64 of compressed JSON. They are opened when they are needed; the newest stay open.
const HELD = 48;
const held = new Map();

async function unpacked(id) {
  const letters = atob(document.getElementById(`episodes-${id}`).textContent);
  const bytes = new Uint8Array(letters.length);
  for (let n = 0; n < letters.length; n += 1) bytes[n] = letters.charCodeAt(n);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function block(id) {
  const found = held.get(id) ?? unpacked(id);
  held.delete(id);
  held.set(id, found);
  if (held.size > HELD) held.delete(held.keys().next().value);
  return found;
}

// The number of the block that has a list's value: the last one that starts at or before it.
function blockOf(starts, number) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle] <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}

// A text is itself, or the numbers of its paragraphs; these are all numbers that stand alone in lists, but for usage.
function paragraphsIn(value, found) {
  if (Array.isArray(value) && value.length && value.every(Number.isInteger)) for (const one of value) found.add(one);
  else if (value && typeof value === "object") {
    for (const [name, one] of Object.entries(value)) if (name !== "usage") paragraphsIn(one, found);
  }
  return found;
}

// An episode of the list, with a function that reads its texts.
async function opened(index, number) {
  const at = blockOf(index.episodes, number);
  const episode = (await block(`steps-${at}`))[number - index.episodes[at]];
  const known = new Map();
  const wanted = Map.groupBy(paragraphsIn(episode, new Set()), (one) => blockOf(index.texts, one));
  await Promise.all(
    [...wanted].map(async ([from, numbers]) => {
      const texts = await block(`texts-${from}`);
      for (const one of numbers) known.set(one, texts[one - index.texts[from]]);
    }),
  );
  const lines = (text) => text.map((one) => known.get(one));
  const read = (text) => (Array.isArray(text) ? lines(text).join("\n") : (text ?? ""));
  return { ...episode, read, lines };
}
