// Has screen readers say a sentence, without moving the focus.
let region;

export function announce(sentence) {
  if (!region) {
    region = document.createElement("div");
    region.className = "visually-hidden";
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = "";
  setTimeout(() => (region.textContent = sentence), 50); // a region that is filled when it appears isn't read out
}
