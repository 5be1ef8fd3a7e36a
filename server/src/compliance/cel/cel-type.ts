import type { Environment } from '@marcbachmann/cel-js'

/** As much of a JSON schema as the policy input uses. */
export type SchemaNode = {
  type?: string
  format?: string
  properties?: Record<string, SchemaNode>
  items?: SchemaNode
  anyOf?: SchemaNode[]
}

/** A JSON value in CEL's own form. */
export type CelReader = (value: unknown) => unknown

type CelType = { type: string; read: CelReader }

const SCALARS: Record<string, CelType> = {
  string: { type: 'string', read: (value) => value },
  boolean: { type: 'bool', read: (value) => value },
  integer: { type: 'int', read: (value) => BigInt(value as number) },
  number: { type: 'double', read: (value) => value },
}
const TIMESTAMP: CelType = { type: 'google.protobuf.Timestamp', read: (value) => new Date(value as string) }
/** JSON has one kind of number, which in CEL is a double. */
const FREE_FORM: CelType = { type: 'map<string, dyn>', read: (value) => value }

/** CEL's type for a part of the input, and how values get into its form. Objects become types of their own. */
export function readerOf(environment: Environment, path: string, schema: SchemaNode): CelType {
  if (schema.anyOf) return nullable(environment, path, schema.anyOf)
  if (schema.properties) return objectReader(environment, path, schema.properties)
  if (schema.items) return listReader(environment, path, schema.items)
  if (schema.format === 'date-time') return TIMESTAMP
  return SCALARS[schema.type ?? ''] ?? FREE_FORM
}

/** An object that is null is there, and empty: its members can be asked for with `has`. Other nulls are left out. */
function nullable(environment: Environment, path: string, [schema = {}]: SchemaNode[]): CelType {
  const { type, read } = readerOf(environment, path, schema)
  if (schema.properties) return { type, read: (value) => read(value ?? {}) }
  return { type, read: (value) => (value === null ? undefined : read(value)) }
}

function listReader(environment: Environment, path: string, items: SchemaNode): CelType {
  const { type, read } = readerOf(environment, path, items)
  return { type: `list<${type}>`, read: (value) => (value as unknown[]).map(read) }
}

function objectReader(environment: Environment, path: string, properties: Record<string, SchemaNode>): CelType {
  const members = Object.entries(properties).map(
    ([name, schema]) => [name, readerOf(environment, `${path}.${name}`, schema)] as const,
  )
  const Class = class {}
  const fields = Object.fromEntries(members.map(([name, { type }]) => [name, type]))
  environment.registerType(`input.${path}`, { ctor: Class, fields })
  const read = (value: unknown) => {
    const object = new Class() as Record<string, unknown>
    for (const [name, member] of members) {
      const given = (value as Record<string, unknown>)[name]
      const inner = given === undefined ? undefined : member.read(given)
      if (inner !== undefined) object[name] = inner
    }
    return object
  }
  return { type: `input.${path}`, read }
}
