// <textarea data-text-editor="URL">: headings, bold and links look as they will while people type; what is kept is Markdown, in the
// textarea. Its pictures go to the URL. Without scripts, people type the marks into the textarea.
const FAILED = "The picture couldn’t be uploaded. Try again.";

const SPRITE = document.querySelector("svg.icon use")?.getAttribute("href").split("#")[0]; // the page's icons
const ICONS = ["list", "link", "image"];

/** Each with its name, the icon or letter that shows it, and what it does. */
const ACTIONS = [
  ["Heading", "H", (editor) => toggle(editor, "h2")],
  ["Bold", "B", (editor) => toggle(editor, "bold")],
  ["Italic", "I", (editor) => toggle(editor, "italic")],
  ["List", "list", (editor) => toggle(editor, "ul")],
  ["Link", "link", (editor) => editor.wrapSelection("[", "](https://)")],
];

function toggle(editor, command) {
  if (!editor.getSelection()) editor.setSelection({ row: 0, col: 0 }); // the cursor was never in the text
  editor.toggleCommandState(command);
}

function button(name, words) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button small square";
  made.append(ICONS.includes(words) ? icon(words) : words);
  made.title = name;
  made.setAttribute("aria-label", name);
  // The selection stays in the text.
  made.addEventListener("mousedown", (event) => event.preventDefault());
  return made;
}

function icon(name) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  made.setAttribute("class", "icon");
  made.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${SPRITE}#${name}`);
  made.append(use);
  return made;
}

function edit(area) {
  const label = document.querySelector(`label[for="${area.id}"]`);
  const frame = document.createElement("div");
  frame.className = "text-editor";
  area.before(frame);
  const editor = new TinyMDE.Editor({ element: frame, content: area.value });
  area.hidden = true;
  const box = editor.e;
  label.id ||= `${area.id}-label`;
  box.setAttribute("role", "textbox");
  box.setAttribute("aria-multiline", "true");
  box.setAttribute("aria-labelledby", label.id);
  if (area.getAttribute("aria-describedby")) {
    box.setAttribute("aria-describedby", area.getAttribute("aria-describedby"));
  }
  if (area.getAttribute("aria-invalid")) box.setAttribute("aria-invalid", "true");
  box.setAttribute("dir", "auto");
  label.addEventListener("click", () => box.focus());
  editor.addEventListener("change", ({ content }) => {
    if (content === area.value) return;
    area.value = content;
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
  // What is typed elsewhere, as on the canvas of the page editor.
  area.addEventListener("input", () => {
    if (area.value !== editor.getContent()) editor.setContent(area.value);
  });
  frame.before(bar(editor, area));
}

function bar(editor, area) {
  const made = document.createElement("div");
  made.className = "markdown-bar";
  made.setAttribute("role", "group");
  made.setAttribute("aria-label", "Formatting");
  for (const [name, words, act] of ACTIONS) {
    const each = button(name, words);
    each.addEventListener("click", () => act(editor));
    made.append(each);
  }
  made.append(...picture(editor, area));
  return made;
}

function picture(editor, area) {
  const choose = button("Picture", "image");
  const said = document.createElement("span");
  said.className = "small soft";
  said.setAttribute("role", "status");
  const input = document.createElement("input");
  input.type = "file";
  input.accept = "image/jpeg,image/png,image/webp";
  input.hidden = true;
  choose.addEventListener("click", () => input.click());
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    choose.disabled = true;
    said.textContent = "Uploading…";
    said.textContent = await upload(file, editor, area);
    choose.disabled = false;
  });
  return [choose, input, said];
}

/** Uploads a picture and puts it where the cursor was. Returns what to say: nothing if it worked. */
async function upload(file, editor, area) {
  const where = editor.getSelection() ?? undefined;
  const body = new FormData();
  for (const { name, value } of area.form.querySelectorAll("input[type=hidden]")) body.append(name, value);
  body.append("picture", file);
  const headers = { "X-CSRFToken": body.get("csrfmiddlewaretoken") }; // the form's own address is another one
  try {
    const answer = await fetch(area.dataset.textEditor, { method: "POST", body, headers });
    const { url, message } = await answer.json();
    if (!answer.ok) return message ?? FAILED;
    const words = file.name.replace(/\.[^.]*$/, "").replace(/[[\]_-]+/g, " ");
    editor.paste(`![${words}](${url})`, where);
    return "";
  } catch {
    return FAILED;
  }
}

for (const area of document.querySelectorAll("textarea[data-text-editor]")) edit(area);
