// What a message says about its result, beside the words that all results of a rule share. Messages
// name the code they are about, but also lines and amounts, which change while the problem stays.

/** What separates a message from the locations after the first. */
export const OTHER_LOCATIONS = '\n\nAlso at:\n- '

/** A message with the list of the locations after the first, as a description shows them. */
export function formatWithLocations(message: string, others: readonly string[]): string {
  return others.length === 0 ? message : message + OTHER_LOCATIONS + others.join('\n- ')
}

export type MessageMarks = {
  /** The words without names and numbers. */
  sentence: string
  /** The names and numbers. */
  literals: string
  /** Words, names and numbers. */
  text: string
  /** The files of the locations after the first, one for each location. */
  others: string[]
  /** How many locations the list leaves out. */
  unlisted: number
}

/** Reads a description. The finding's own file is no mark of the message: it may be renamed. */
export function parseMessage(description: string, path: string | null): MessageMarks {
  const at = description.lastIndexOf(OTHER_LOCATIONS)
  const list = at === -1 ? null : description.slice(at + OTHER_LOCATIONS.length)
  const message = at === -1 ? description : description.slice(0, at)
  const tokens = listTokens(path === null ? message : message.replaceAll(path, ' '))
  const words = tokens.map((token) => (WORD.test(token) ? token.toLowerCase().match(BARE)?.[0] : undefined))
  const named = tokens.filter((token, index) => words[index] === undefined && !isMeasured(words, index, token))
  const sentence = tokens
    .map((_, index) => words[index] ?? '#')
    .filter((word, index, all) => word !== '#' || all[index - 1] !== '#')
  return {
    sentence: sentence.join(' '),
    literals: named.join(' '),
    text: tokens.filter((token, index) => !isMeasured(words, index, token)).join(' '),
    others: list === null ? [] : listPlaces(list),
    unlisted: Number(UNLISTED.exec(list ?? '')?.[1] ?? 0),
  }
}

/** The end of a list that does not have all locations, as `formatDescription` makes it. */
const UNLISTED = /(?:^|\n- )and (\d+) more$/

/** The files in a list of locations, one for each location that it states. */
export function listPlaces(list: string): string[] {
  const stated = list.replace(UNLISTED, '')
  return stated === '' ? [] : stated.split('\n- ').map((place) => place.replace(/:\d+$/, ''))
}

const QUOTED = /"[^"]*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g
/** Lines behind a file's name: `Pool.sol#20-60`, `a.ts:7:1`. */
const LINES = /(?<=\.[A-Za-z]\w{0,9})[:#]L?\d+(?:[:-]L?\d+)*/g

/** Words, and what is quoted as one token each. Punctuation alone says nothing. */
function listTokens(message: string): string[] {
  const quoted: string[] = []
  const marked = message.replace(QUOTED, (text) => ` \u0001${quoted.push(text.slice(1, -1).replace(/\s+/g, '')) - 1} `)
  return marked
    .replace(LINES, '')
    .split(/\s+/)
    .filter((token) => /[\p{L}\p{N}]/u.test(token))
    .map((token) => (token.startsWith('\u0001') ? `"${quoted[Number(token.slice(1))] ?? ''}"` : token))
}

/** `read-only` is a word, `isReady` and `CVE-2024-1000` are names. */
const WORD = /^[^\p{L}\p{N}"]*\p{L}\p{Ll}*(?:[-'’]\p{Ll}+)*[^\p{L}\p{N}"]*$/u
const BARE = /\p{L}[\p{L}'’-]*/u
/** A number, with a short unit or without: `12`, `3.5`, `17/15`, `80%`, `250ms`. */
const AMOUNT = /^[^\p{L}\p{N}]*\d+(?:[.,/]\d+)*(?:%|[a-zµ]{1,2})?[^\p{L}\p{N}%]*$/u

/** Words beside which a number is an amount or a place, and identifies nothing. */
const MEASURES = new Set(
  (
    'allowed amount arguments branches bytes characters chars column columns complexity count days depth entropy exceeds ' +
    'hours length limit line lines maximum minimum minutes occurrences of over parameters percent returns score seconds ' +
    'size statements than times total'
  ).split(' '),
)
const BESIDE = 2

function isMeasured(words: readonly (string | undefined)[], index: number, token: string): boolean {
  if (!AMOUNT.test(token)) return false
  const beside = words.slice(Math.max(0, index - BESIDE), index + BESIDE + 1)
  return beside.some((word) => word !== undefined && MEASURES.has(word))
}
