import type { SchemaNode } from './policy-schema.ts'
import { positionIn } from './yaml-position.ts'

type Offer = { label: string; detail: string; info: string; insert: string }

/** What can be typed at an offset of a policy file: names of fields, or values of a field. */
export function offersAt(schema: SchemaNode, text: string, offset: number): { word: string; offers: Offer[] } | null {
  const position = positionIn(text, offset)
  if (position === null) return null
  const form = formOf(schema, /^engine:\s*(\w+)/m.exec(text)?.[1])
  const node = position.path.reduce<SchemaNode | undefined>(childOf, form)
  if (node === undefined) return null
  const { word, kind, siblings } = position
  if (kind === 'key') return { word, offers: keysOf(node, siblings) }
  const isEngine = position.path.length === 1 && position.path[0] === 'engine'
  return { word, offers: isEngine ? enginesOf(schema).flatMap(valueOffers) : valueOffers(node) }
}

function childOf(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  return itemOf(node)?.properties?.[key]
}

function itemOf(node: SchemaNode | undefined): SchemaNode | undefined {
  return node?.items?.properties ? node.items : node
}

function keysOf(node: SchemaNode, siblings: readonly string[]): Offer[] {
  const { properties = {}, required = [] } = itemOf(node) ?? {}
  return Object.entries(properties)
    .filter(([key]) => !siblings.includes(key))
    .map(([key, { type, description = '' }]) => ({
      label: key,
      detail: required.includes(key) ? 'required' : '',
      info: description,
      insert: type === 'object' ? `${key}:\n  ` : `${key}: `,
    }))
}

function valueOffers(node: SchemaNode): Offer[] {
  const values = valuesOf(node)
  const examples = values.length > 0 ? [] : (node.items?.examples ?? node.examples ?? [])
  return [...values, ...examples].map((value) => ({
    label: value,
    detail: values.length > 0 ? '' : 'example',
    info: node.description ?? '',
    insert: value === '*' ? "'*'" : value,
  }))
}

/** The form of policy files that an engine has. CEL is the default, as on the server. */
export function formOf(schema: SchemaNode, engine: unknown): SchemaNode {
  const forms = schema.anyOf ?? [schema]
  return forms.find(({ properties }) => properties?.engine?.const === engine) ?? (forms[0] as SchemaNode)
}

/** The values of a field that the schema lists. */
export function valuesOf(node: SchemaNode): string[] {
  if (node.enum) return node.enum
  if (node.const !== undefined) return [node.const]
  return node.type === 'boolean' ? ['true', 'false'] : []
}

/** All engines, which are the constants of the forms. */
export function enginesOf(schema: SchemaNode): SchemaNode[] {
  return (schema.anyOf ?? []).flatMap(({ properties }) => properties?.engine ?? [])
}
