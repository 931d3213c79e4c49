/** Decodes HTML entities: numbers, and the names that occur in prose. */

const names: ReadonlyMap<string, string> = new Map(
  (
    "amp & lt < gt > quot \" apos ' nbsp \u00a0 copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ " +
    "ldquo “ rdquo ” laquo « raquo » bull • middot · times × divide ÷ deg ° plusmn ± minus − larr ← rarr → " +
    "uarr ↑ darr ↓ harr ↔ rArr ⇒ lArr ⇐ euro € pound £ yen ¥ cent ¢ sect § para ¶ le ≤ ge ≥ ne ≠ infin ∞ " +
    "asymp ≈ equiv ≡ sum ∑ prod ∏ radic √ int ∫ part ∂ delta δ Delta Δ alpha α beta β gamma γ lambda λ mu μ " +
    "pi π sigma σ Omega Ω omega ω micro µ frac12 ½ frac14 ¼ frac34 ¾ sup2 ² sup3 ³ check ✓ cross ✗ star ☆ " +
    "szlig ß auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü eacute é egrave è agrave à ccedil ç ntilde ñ aring å " +
    "oslash ø lbrace { rbrace } lbrack [ rbrack ] lpar ( rpar ) num # ast * lowbar _ grave ` vert | sol / bsol \\"
  )
    .split(" ")
    .reduce<[string, string][]>((pairs, word, index) => {
      if (index % 2 === 0) pairs.push([word, ""]);
      else (pairs.at(-1) as [string, string])[1] = word;
      return pairs;
    }, []),
);

/** Leaves unknown names as written. The result may hold control characters. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{2,10}));/g,
    (raw, decimal, hex, name) => {
      if (typeof name === "string") return names.get(name) ?? raw;
      const code = typeof decimal === "string" ? Number(decimal) : Number.parseInt(String(hex), 16);
      const isCharacter = code > 0 && code <= 0x10_ff_ff && !(code >= 0xd800 && code <= 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}
