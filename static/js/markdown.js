// <textarea data-markdown>: buttons that write Markdown around the selection. Without this script people type the marks.
const ACTIONS = [
  ["Heading", "H", (text) => ["## ", text || "Heading", ""]],
  ["Bold", "B", (text) => ["**", text || "bold", "**"]],
  ["Italic", "I", (text) => ["*", text || "italic", "*"]],
  ["List", "• List", (text) => ["", (text || "First entry").replace(/^(?!- )/gm, "- "), ""]],
  ["Link", "Link", (text) => ["[", text || "text", "](https://)"]],
  ["Picture", "Picture", (text) => ["![", text || "what it shows", "](https://)"]],
];
const WHOLE_LINES = ["Heading", "List"];

function apply(area, name, make) {
  let { selectionStart: start, selectionEnd: end } = area;
  const { value } = area;
  if (WHOLE_LINES.includes(name)) {
    start = value.lastIndexOf("\n", start - 1) + 1;
    const close = value.indexOf("\n", end);
    end = close < 0 ? value.length : close;
  }
  const [before, text, after] = make(value.slice(start, end));
  area.focus();
  area.setSelectionRange(start, end);
  // The only way that leaves the browser's own undo in order. Firefox before 89 replaces without it.
  if (!document.execCommand("insertText", false, before + text + after)) {
    area.setRangeText(before + text + after, start, end);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
  area.setSelectionRange(start + before.length, start + before.length + text.length);
}

for (const area of document.querySelectorAll("textarea[data-markdown]")) {
  const bar = document.createElement("div");
  bar.className = "markdown-bar";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Formatting");
  for (const [name, words, make] of ACTIONS) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small";
    button.textContent = words;
    button.title = name;
    if (words !== name) button.setAttribute("aria-label", name);
    button.addEventListener("click", () => apply(area, name, make));
    bar.append(button);
  }
  area.before(bar);
}
