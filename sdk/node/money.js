// Money of the app API is in major units (12.5), that of hook calls in minor ones (1250).

const NONE = new Set("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(" "));
const THREE = new Set("BHD IQD JOD KWD LYD OMR TND".split(" "));

function decimals(currency) {
  return NONE.has(currency) ? 0 : THREE.has(currency) ? 3 : 2;
}

/** 12.5 USD is 1250, 1250 JPY is 1250; rounded half up to the smallest unit. */
export function toMinor(amount, currency) {
  // Shifting the decimal text is exact where multiplying 1.005 by 100 is not.
  const [digits, exponent = "0"] = String(amount).split("e");
  const scaled = Number(`${digits}e${Number(exponent) + decimals(currency)}`);
  return Math.sign(scaled) * Math.round(Math.abs(scaled));
}

/** 1250 USD is 12.5. */
export function toMajor(minor, currency) {
  return minor / 10 ** decimals(currency);
}
