type Elements = { elements: unknown[]; end: number }

/**
 * Reads the text of an array (PostgreSQL manual, 8.15.6), whose elements are separated by commas.
 */
export function parseArray(text: string, parse?: (text: string) => unknown): unknown[] {
  // Arrays whose first index is not 1 begin with their bounds, as in "[0:1]={1,2}".
  return readElements(text, text.indexOf('{') + 1, parse ?? String).elements
}

function readElements(text: string, start: number, parse: (text: string) => unknown): Elements {
  const elements: unknown[] = []
  let at = start
  for (;;) {
    const first = text[at]
    if (first === '}') return { elements, end: at + 1 }
    if (first === ',') at += 1
    else if (first === '{') {
      const inner = readElements(text, at + 1, parse)
      elements.push(inner.elements)
      at = inner.end
    } else if (first === '"') {
      const end = endOfQuoted(text, at + 1)
      const quoted = text.slice(at + 1, end)
      elements.push(parse(quoted.includes('\\') ? quoted.replace(/\\(.)/gs, '$1') : quoted))
      at = end + 1
    } else {
      const end = endOfPlain(text, at)
      const plain = text.slice(at, end)
      elements.push(plain === 'NULL' ? null : parse(plain))
      at = end
    }
  }
}

function endOfQuoted(text: string, start: number): number {
  let at = start
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function endOfPlain(text: string, start: number): number {
  let at = start
  while (text[at] !== ',' && text[at] !== '}') at += 1
  return at
}
