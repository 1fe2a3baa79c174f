// The search of a site of files. It loads the index that lies next to it, and nothing from elsewhere.
const form = document.getElementById("search");
const state = document.getElementById("state");
const results = document.getElementById("results");
const MOST = 50;
let asked = 0;

function describe(count) {
  if (count === 0) return "No claim has these words.";
  if (count > MOST) return `${count} claims, the first ${MOST} are listed.`;
  return count === 1 ? "1 claim." : `${count} claims.`;
}

function show(found) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = new URL(form.dataset.root + found.meta.page, location.href).href;
  link.textContent = found.meta.title;
  const quote = document.createElement("p");
  quote.dir = "auto";
  quote.textContent = found.meta.quote;
  const facts = document.createElement("p");
  facts.className = "quiet small";
  facts.textContent = `${found.meta.verdict} · ${found.meta.model}`;
  item.append(link, quote, facts);
  return item;
}

async function search(pagefind, words) {
  const mine = ++asked;
  results.replaceChildren();
  if (!words.trim()) {
    state.textContent = "Type words and press Enter.";
    return;
  }
  const answer = await pagefind.search(words);
  const found = await Promise.all(answer.results.slice(0, MOST).map((result) => result.data()));
  // A later search may have been faster.
  if (mine !== asked) return;
  state.textContent = describe(answer.results.length);
  results.replaceChildren(...found.map(show));
}

const pagefind = await import(new URL(form.dataset.index, location.href).href);
await pagefind.init();
const given = new URLSearchParams(location.search).get("q") ?? "";
form.elements.q.value = given;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  search(pagefind, form.elements.q.value);
});
await search(pagefind, given);
