// <body data-visit="URL">: reports a visit of the store, once for each tab. Pages in frames, as in the editor's preview, are none.
const { visit } = document.body.dataset;
const key = `visit ${visit}`;

if (visit && window.top === window && !sessionStorage.getItem(key)) {
  sessionStorage.setItem(key, "sent");
  navigator.sendBeacon(visit);
}
