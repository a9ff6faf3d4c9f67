// Says a sentence to people who hear the page, without moving them.
let region;

export function announce(sentence) {
  if (!region) {
    region = document.createElement("div");
    region.className = "visually-hidden";
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = "";
  setTimeout(() => (region.textContent = sentence), 50); // a region filled as it appears isn't read out
}
