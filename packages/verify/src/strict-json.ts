import { Refused } from './checks.ts'

const DEPTH_MAX = 100
const WHITESPACE = ' \t\n\r'

/**
 * Parses JSON that has only one meaning: valid UTF-8, no duplicate keys (RFC 8259 leaves their
 * meaning open), limited nesting. `what` names the text in error messages.
 */
export function parseStrictJson(bytes: Uint8Array, what: string): unknown {
  const text = decodeUtf8(bytes, what)
  try {
    checkStructure(text, what)
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refused(`${what} is not JSON: ${oneLine(error.message)}`)
    throw error
  }
}

function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refused(`${what} is not text: it contains bytes that are not UTF-8`)
  }
}

/** Finds deep nesting and duplicate keys. Does not find other mistakes, which `JSON.parse` finds. */
function checkStructure(text: string, what: string): void {
  const open: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '{' || char === '[') {
      if (open.push(new Set()) > DEPTH_MAX) throw new Refused(`${what} is nested more than ${DEPTH_MAX} levels deep`)
    } else if (char === '}' || char === ']') {
      open.pop()
    } else if (char === '"') {
      const end = endOfString(text, at)
      if (isFollowedByColon(text, end)) addKey(open.at(-1), JSON.parse(text.slice(at, end)), what)
      at = end - 1
    }
  }
}

/** The position after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function isFollowedByColon(text: string, position: number): boolean {
  let at = position
  while (at < text.length && WHITESPACE.includes(text.charAt(at))) at++
  return text[at] === ':'
}

function addKey(keys: Set<string> | undefined, key: string, what: string): void {
  if (keys?.has(key)) throw new Refused(`${what} has the key ${JSON.stringify(key).slice(0, 80)} twice in one object`)
  keys?.add(key)
}

/** V8 quotes a part of the text, which may contain anything. */
function oneLine(message: string): string {
  return message.replace(/\s+/g, ' ').slice(0, 160)
}
