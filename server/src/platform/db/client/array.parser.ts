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
      let end = at + 1
      while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1
      const quoted = text.slice(at + 1, end)
      elements.push(parse(quoted.includes('\\') ? quoted.replace(/\\(.)/gs, '$1') : quoted))
      at = end + 1
    } else {
      let end = at
      while (text[end] !== ',' && text[end] !== '}') end += 1
      const plain = text.slice(at, end)
      elements.push(plain === 'NULL' ? null : parse(plain))
      at = end
    }
  }
}
