import { toTexts } from '../../platform/json/read-value.ts'

// The longest texts of a finding, in UTF-16 code units.
export const TITLE_MAX = 500
export const DESCRIPTION_MAX = 16 * 1024
export const PATH_MAX = 1000
export const RULE_ID_MAX = 300
const URL_MAX = 2048
export const NAME_MAX = 300
export const VERSION_MAX = 100
export const COMMENT_MAX = 2000

/**
 * The text as PostgreSQL can store it, at most `max` long: without NUL, with lone surrogates
 * replaced, trimmed; null if nothing is left. A shortened text is a copy, because the result of
 * V8's slice would keep the original in memory.
 */
export function truncateText(text: string | null, max: number): string | null {
  if (text === null) return null
  const cut =
    text.length > max
      ? Buffer.from(text.slice(0, max - 1))
          .toString()
          .concat('…')
      : text
  const clean = (cut.includes('\u0000') ? cut.replaceAll('\u0000', '') : cut).toWellFormed().trim()
  return clean === '' ? null : clean
}

const LIST_LENGTH_MAX = 50
const LIST_TEXT_MAX = 300

/** The bounded texts of a list, like the tags of a rule. A single text is a list of one. */
export function collectTexts(value: unknown): string[] {
  const texts = toTexts(value)
    .slice(0, LIST_LENGTH_MAX)
    .map((text) => truncateText(text, LIST_TEXT_MAX))
  return texts.filter((text) => text !== null)
}

/** The first line that is not blank. */
export function getFirstLine(text: string): string {
  const trimmed = text.trimStart()
  const end = trimmed.search(/[\r\n]/)
  return end < 0 ? trimmed : trimmed.slice(0, end)
}

/** An http or https URL that is safe to link to; null for any other text and for longer URLs. */
export function parseWebUrl(text: string | null): string | null {
  const url = truncateText(text, URL_MAX + 1)
  if (url === null || url.length > URL_MAX || !/^https?:\/\/[^\s]+$/i.test(url)) return null
  return URL.canParse(url) ? url : null
}
