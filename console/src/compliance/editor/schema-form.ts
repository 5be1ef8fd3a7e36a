import type { SchemaNode } from './policy-schema.ts'

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
