// <input data-slug-from="ID">: derives the slug from the name in the field with that ID, until the slug is edited.
// Includes a name that was typed before this script loaded.
export function slugOf(text) {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

for (const slug of document.querySelectorAll("[data-slug-from]")) {
  const name = document.getElementById(slug.dataset.slugFrom);
  if (!name) continue;
  let follows = slug.value === "" || slug.value === slugOf(name.value);
  const most = slug.maxLength > 0 ? slug.maxLength : undefined;
  const follow = () => {
    if (follows) slug.value = slugOf(name.value).slice(0, most).replace(/-+$/, "");
  };
  name.addEventListener("input", follow);
  follow();
  slug.addEventListener("input", () => (follows = slug.value === ""));
}
