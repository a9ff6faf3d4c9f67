// <p data-counter="ID" data-most="300">: counts the characters in the field with that ID.
function show(counter, field) {
  const most = Number(counter.dataset.most);
  const length = [...field.value].length;
  counter.textContent = `${length} of ${most} characters`;
  counter.toggleAttribute("data-over", length > most);
}

for (const counter of document.querySelectorAll("[data-counter]")) {
  const field = document.getElementById(counter.dataset.counter);
  if (!field) continue;
  field.addEventListener("input", () => show(counter, field));
  show(counter, field);
}
