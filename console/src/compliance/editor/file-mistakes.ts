import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { enginesOf, formOf, valuesOf } from './completions.ts'
import type { SchemaNode } from './policy-schema.ts'

/** A mistake in a policy file, as `validatePolicy` of the API describes it. */
export type FileMistake = { line: number; column: number; path: string; message: string }
type Found = { offset: number; path: string; message: string }

/** Finds mistakes of syntax and form without the server, which also checks expressions and globs. */
export function mistakesIn(schema: SchemaNode, text: string): FileMistake[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const found: Found[] =
    document.errors.length > 0
      ? document.errors.map(({ pos, message }) => ({ offset: pos[0], path: '', message }))
      : formMistakes(schema, document.contents, document.get?.('engine'))
  return found.map(({ offset, path, message }) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1), path, message }
  })
}

function formMistakes(schema: SchemaNode, root: Node | null, engine: unknown): Found[] {
  if (!isMap(root)) return [{ offset: 0, path: '', message: 'the file must be a map of fields' }]
  const engines = enginesOf(schema).flatMap(valuesOf)
  if (engine !== undefined && !engines.includes(String(engine))) {
    const node = root.get('engine', true) as Node | undefined
    return [{ offset: offsetOf(node ?? root), path: 'engine', message: `must be ${either(engines)}` }]
  }
  return check(formOf(schema, engine ?? 'cel'), root, '')
}

function check(schema: SchemaNode, node: Node, path: string): Found[] {
  switch (schema.type) {
    case 'object':
      return isMap(node) ? checkMap(schema, node, path) : [mistake(node, path, 'must be a map of fields')]
    case 'array':
      return isSeq(node)
        ? checkList(schema, node.items as Node[], { node, path })
        : [mistake(node, path, listOf(schema))]
    case 'boolean':
      return isScalar(node) && typeof node.value === 'boolean' ? [] : [mistake(node, path, 'must be true or false')]
    default:
      return checkText(schema, node, path)
  }
}

function checkMap(schema: SchemaNode, node: Node & { items: unknown[] }, path: string): Found[] {
  const { properties = {}, required = [], minProperties = 0 } = schema
  const pairs = node.items as { key: Node & { value?: unknown }; value: Node | null }[]
  const keys = pairs.map(({ key }) => String(key.value))
  const missing = required
    .filter((key) => !keys.includes(key))
    .map((key) => mistake(node, join(path, key), 'is required'))
  if (pairs.length < minProperties)
    missing.push(mistake(node, path, `must have at least one of the fields ${Object.keys(properties).join(', ')}`))
  const inside = pairs.flatMap(({ key, value }) => {
    const name = String(key.value)
    const child = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (child === undefined) {
      const fields = Object.keys(properties).join(', ')
      return [mistake(key, join(path, name), `is not a field here; the fields are ${fields}`)]
    }
    return check(child, value ?? key, join(path, name))
  })
  return [...missing, ...inside]
}

function checkList(schema: SchemaNode, items: Node[], { node, path }: { node: Node; path: string }): Found[] {
  const { items: item = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  const size = items.length < minItems || items.length > maxItems ? [mistake(node, path, listOf(schema))] : []
  return [...size, ...items.flatMap((each, index) => check(item, each, `${path}[${index}]`))]
}

function checkText(schema: SchemaNode, node: Node, path: string): Found[] {
  const values = valuesOf(schema)
  const value = isScalar(node) ? node.value : undefined
  if (values.length > 0) return values.includes(String(value)) ? [] : [mistake(node, path, `must be ${either(values)}`)]
  if (typeof value !== 'string')
    return [mistake(node, path, `must be text${isScalar(node) ? '; put it in quotes' : ''}`)]
  const { pattern, maxLength = Number.POSITIVE_INFINITY, examples = [] } = schema
  if (value.length > maxLength) return [mistake(node, path, `must have at most ${maxLength} characters`)]
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return [mistake(node, path, `must be text such as ${either(examples)}`)]
  return []
}

function mistake(node: Node, path: string, message: string): Found {
  return { offset: offsetOf(node), path, message }
}

function offsetOf({ range }: Node): number {
  return range?.[0] ?? 0
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function listOf({ minItems = 1, maxItems }: SchemaNode): string {
  return `must be a list of ${minItems} to ${maxItems} items`
}

function either(values: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(values)
}
