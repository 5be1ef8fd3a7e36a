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

/** Names of parts of a text, in lower case. They say nothing as a title. */
const HEADINGS = new Set(
  `abstract|additional details|advisory|affected|affected component|affected components|affected package|
  affected packages|affected product|affected products|affected version|affected versions|background|
  credit|credits|cve|cwe|cvss|description|description of problem|details|disclosure|evidence|executive summary|
  exploit|exploitation|explanation|external references|file|fix|fixed version|fixes|for more information|general|
  how to fix|id|impact|impact summary|information|installed version|introduction|issue|issue description|
  issue details|issue summary|level|library|line|link|links|location|matched at|mitigation|mitigations|
  module|more details|more info|more information|name|note|notes|nvd description|original report|overview|
  package|package name|patch|patches|path|poc|problem|problem description|proof of concept|rationale|
  recommendation|recommendations|recommended action|reference|references|remediation|report|resolution|risk|
  rule|rule id|see also|severity|short description|short summary|solution|source|status|steps to reproduce|
  summary|target|technical description|technical details|technical summary|title|type|url|version|
  vulnerability|vulnerability description|vulnerability details|vulnerability id|vulnerability summary|
  vulnerable component|vulnerable package|what|what happened|what kind of vulnerability is it|
  who is impacted|workaround|workarounds`
    .replace(/\n\s*/g, '')
    .split('|'),
)

/** What tools write if there is no description, and the beginnings of references. */
const FILLER =
  /^(?:no (?:further )?(?:description|details?|summary|information|title)\b|(?:description|details?|summary|information) (?:is |are )?(?:not|un)[ -]?(?:available|known|provided)|not (?:available|provided|specified)|n\/?a$|none$|null$|undefined$|unknown$|tbd$|todo$|\*\* ?(?:reserved|reject)|this (?:cve|candidate) (?:id )?(?:has been|is) (?:reserved|rejected)|(?:for )?(?:more|further|additional) (?:details|info|information) |see (?:also |the )?(?:https?:|references?\b|link)|click here|read more|learn more)/i

/** A label with its value, such as `Package   : zlib` or `**Severity:** high`. */
const LABEL = /^([A-Za-z][A-Za-z ]{1,40})(?::\*\*|\*\*:|:)(?:\s|$)/

/** As Anchore writes them: `CVE-2019-5188 Severity=Medium Package=e2fsprogs`. Markup has others. */
const PAIRS = /\b[A-Z][A-Za-z]{0,40}=\S{1,200} [A-Z][A-Za-z]{0,40}=/

/**
 * The first line of a text, if it says something as a title: it is no heading of a part, address,
 * filler or label with a value. Null otherwise.
 */
export function selectTitleLine(text: string | null): string | null {
  const [first = ''] = (text ?? '').trimStart().split(/[\r\n]/, 1)
  const line = first
    .slice(0, DESCRIPTION_MAX)
    .replace(/^(?:#{1,6}\s|[*-]\s|\*\*(?=[A-Za-z]))/, '')
    .trim()
  const plain = line
    .replace(/[*_:?.=-]{1,80}$/, '')
    .trim()
    .toLowerCase()
  const label = LABEL.exec(line)?.[1]?.trim().toLowerCase()
  const isEmpty = !/[\p{L}\p{N}]/u.test(plain) || HEADINGS.has(plain) || FILLER.test(line)
  const isElsewhere = /^<?(?:https?|file|ftp):\/\//i.test(line) || /\b(?:at|see):?$/i.test(plain)
  return isEmpty || isElsewhere || line.endsWith(':') || PAIRS.test(line) || HEADINGS.has(label ?? '') ? null : line
}

/** An http or https URL that is safe to link to; null for any other text and for longer URLs. */
export function parseWebUrl(text: string | null): string | null {
  const url = truncateText(text, URL_MAX + 1)
  if (url === null || url.length > URL_MAX || !/^https?:\/\/[^\s]+$/i.test(url)) return null
  return URL.canParse(url) ? url : null
}
