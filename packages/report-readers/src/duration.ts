/** A number of which the dots or commas may be decimal signs, or stand between groups of three. */
const NUMBER = /^\d[\d.,]*$/
const GROUPED = /^[1-9]\d{0,2}(?:[.,]\d{3})+$/
/** ISO 8601 durations without years and months, which have no fixed length. */
const ISO = /^P(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/i
const SECONDS = [7 * 86_400, 86_400, 3600, 60, 1]

/**
 * Seconds as tools write them: `1.5`, `1,234.5`, `1.234,5`, `0,5`, `PT1M2.5S`. Of two different
 * separators, the last is the decimal one. 0 for what is negative or cannot be read.
 */
export function readSeconds(written: string | undefined): number {
  const text = written?.trim() ?? ''
  const seconds = NUMBER.test(text) ? Number(plainNumber(text)) : (isoSeconds(text) ?? Number(text))
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0
}

function plainNumber(text: string): string {
  const [dot, comma] = [text.lastIndexOf('.'), text.lastIndexOf(',')]
  if (dot !== -1 && comma !== -1) return decimalAt(text, Math.max(dot, comma))
  // A dot alone is the decimal point; groups need a second one.
  const isGrouped = GROUPED.test(text) && (comma !== -1 || text.indexOf('.') !== dot)
  return isGrouped ? text.replaceAll(/[.,]/g, '') : text.replace(',', '.')
}

function decimalAt(text: string, at: number): string {
  return `${text.slice(0, at).replaceAll(/[.,]/g, '')}.${text.slice(at + 1)}`
}

function isoSeconds(text: string): number | null {
  const parts = ISO.exec(text)?.slice(1)
  if (parts === undefined || parts.every((part) => part === undefined)) return null
  return parts.reduce((sum, part, index) => sum + Number(part ?? 0) * (SECONDS[index] as number), 0)
}
