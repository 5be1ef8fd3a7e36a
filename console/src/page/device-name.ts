const BROWSERS: [name: string, pattern: RegExp][] = [
  ['Edge', /\bEdgA?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
]
const SYSTEMS: [name: string, pattern: RegExp][] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b|\bMacintosh\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]

/** "Chrome on Linux", from the way in which a browser names itself. */
export function deviceName(userAgent: string | null): string {
  const find = (names: [string, RegExp][]) => names.find(([, pattern]) => pattern.test(userAgent ?? ''))?.[0]
  const known = [find(BROWSERS), find(SYSTEMS)].filter(Boolean)
  return known.length > 0 ? known.join(' on ') : 'Unknown browser'
}
