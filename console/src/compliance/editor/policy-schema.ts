import schema from '../../../../docs/policies/policy.schema.json'

/** The part of JSON Schema that the schema of policy files uses. */
export type SchemaNode = {
  type?: string
  description?: string
  properties?: Record<string, SchemaNode>
  required?: string[]
  additionalProperties?: boolean
  items?: SchemaNode
  anyOf?: SchemaNode[]
  enum?: string[]
  const?: string
  pattern?: string
  examples?: string[]
  maxLength?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
}

/**
 * The schema of policy files (docs/policies/policy.schema.json). Its inferred type says that each form
 * has the fields of all others, undefined.
 */
export const POLICY_SCHEMA = schema as unknown as SchemaNode
