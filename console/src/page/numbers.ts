/**
 * The locale of numbers and dates: the reader's own variety of English, because "vor 3 Stunden" in
 * an English sentence reads badly.
 */
export const LOCALE = navigator.languages.find((language) => /^en\b/i.test(language)) ?? 'en'

const COUNT = new Intl.NumberFormat(LOCALE)
const COMPACT = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 })
const PERCENT = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 })
const SIZE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** 12,345 */
export function formatCount(count: number): string {
  return COUNT.format(count)
}

/** 1 finding, 2 findings. */
export function formatPlural(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`
}

/** How many rows match: exactly, or `count` and more. */
type Matching = { count: number; exact: boolean }

/** “1 issue”, “10,000+ entries of the audit log”. `of` is what is counted, in the plural. */
export function formatMatching({ count, exact }: Matching, of: string): string {
  const noun = count === 1 ? of.replace(/ies(?= of |$)/, 'y').replace(/(?<!s)s(?= of |$)/, '') : of
  return `${formatCount(count)}${exact ? '' : '+'} ${noun}`
}

/** 12.3K, where there is little room. */
export function formatCompact(count: number): string {
  return COMPACT.format(count)
}

/** 0.123 is 12.3%. */
export function formatPercent(share: number): string {
  return PERCENT.format(share)
}

/** 1.2 MB, 12 bytes, with decimal units. */
export function formatSize(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), SIZE_UNITS.length - 1)
  const unit = SIZE_UNITS[step] as string
  return new Intl.NumberFormat(LOCALE, {
    style: 'unit',
    unit,
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** step)
}
