import { Environment } from '@marcbachmann/cel-js'
import { PolicyInput } from '../input/policy-input.schema.ts'

/** The keywords of JSON Schema that the policy input uses. */
type SchemaNode = {
  type?: string
  format?: string
  properties?: Record<string, SchemaNode>
  items?: SchemaNode
  anyOf?: SchemaNode[]
}

/** A CEL type, and a function that converts a JSON value to it. */
type CelType = { type: string; read: (value: unknown) => unknown }

const SCALARS: Record<string, CelType> = {
  string: { type: 'string', read: (value) => value },
  boolean: { type: 'bool', read: (value) => value },
  integer: { type: 'int', read: (value) => BigInt(value as number) },
  number: { type: 'double', read: (value) => value },
}
const TIMESTAMP: CelType = { type: 'google.protobuf.Timestamp', read: (value) => new Date(value as string) }
/** JSON objects without a schema. Their numbers are doubles in CEL. */
const FREE_FORM: CelType = { type: 'map<string, dyn>', read: (value) => value }

/** Limits on the size of one expression. The process that evaluates it limits its time. */
const LIMITS = { maxAstNodes: 1000, maxDepth: 40, maxListElements: 200, maxMapEntries: 50, maxCallArguments: 16 }

/** The CEL environment with every member of the policy input as a typed variable. */
export const celEnvironment = new Environment({ limits: LIMITS })

const members = Object.entries((PolicyInput as unknown as SchemaNode).properties ?? {}).map(([name, schema]) => {
  const { type, read } = celType(name, schema)
  celEnvironment.registerVariable(name, type)
  return [name, read] as const
})

/** Converts a policy input to CEL values. Null members are absent, for `has(run.branch)`. */
export function toCelInput(input: PolicyInput): Record<string, unknown> {
  return Object.fromEntries(members.map(([name, read]) => [name, read(input[name as keyof PolicyInput])]))
}

/** Returns the CEL type for a part of the input. Registers a separate type for each object. */
function celType(path: string, schema: SchemaNode): CelType {
  if (schema.anyOf) return nullableType(path, schema.anyOf)
  if (schema.properties) return objectType(path, schema.properties)
  if (schema.items) return listType(path, schema.items)
  if (schema.format === 'date-time') return TIMESTAMP
  return SCALARS[schema.type ?? ''] ?? FREE_FORM
}

/** A null object becomes an empty one, so that `has` works. Other nulls are left out. */
function nullableType(path: string, [schema = {}]: SchemaNode[]): CelType {
  const { type, read } = celType(path, schema)
  if (schema.properties) return { type, read: (value) => read(value ?? {}) }
  return { type, read: (value) => (value === null ? undefined : read(value)) }
}

function listType(path: string, items: SchemaNode): CelType {
  const { type, read } = celType(path, items)
  return { type: `list<${type}>`, read: (value) => (value as unknown[]).map(read) }
}

function objectType(path: string, properties: Record<string, SchemaNode>): CelType {
  const fields = Object.entries(properties).map(([name, schema]) => [name, celType(`${path}.${name}`, schema)] as const)
  const Class = class {}
  const types = Object.fromEntries(fields.map(([name, { type }]) => [name, type]))
  celEnvironment.registerType(`input.${path}`, { ctor: Class, fields: types })
  const read = (value: unknown) => {
    const object = new Class() as Record<string, unknown>
    for (const [name, field] of fields) {
      const given = (value as Record<string, unknown>)[name]
      const converted = given === undefined ? undefined : field.read(given)
      if (converted !== undefined) object[name] = converted
    }
    return object
  }
  return { type: `input.${path}`, read }
}
