// A pending payment: counts down the time left, and reloads the page when its state changes. Without this script, the
// page shows both after a reload.
const BETWEEN = [2_000, 3_000, 5_000, 10_000]; // ms between requests; the last one repeats
const panel = document.querySelector("[data-state-url]");
let asked = 0;

async function ask() {
  if (!document.hidden) {
    const answer = await fetch(panel.dataset.stateUrl, { headers: { Accept: "application/json" } }).catch(() => null);
    if (answer?.ok && (await answer.json()).state !== panel.dataset.state) return location.reload();
  }
  setTimeout(ask, BETWEEN[Math.min(asked++, BETWEEN.length - 1)]);
}

function timeLeft(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

function countDown(element) {
  const ahead = Number(element.dataset.now) * 1000 - Date.now(); // use the server's clock
  const ends = Number(element.dataset.countdown) * 1000;
  const figures = element.querySelector("span");
  element.hidden = false;
  const tick = () => {
    const left = Math.max(0, Math.ceil((ends - Date.now() - ahead) / 1000));
    figures.textContent = element.dataset.left.replace("{time}", timeLeft(left));
    if (left === 0) location.reload();
    else setTimeout(tick, 1_000);
  };
  tick();
}

if (panel) setTimeout(ask, BETWEEN[0]);
document.querySelectorAll("[data-countdown]").forEach(countDown);
