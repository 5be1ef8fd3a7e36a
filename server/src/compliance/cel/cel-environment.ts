import { Environment } from '@marcbachmann/cel-js'
import { PolicyInput } from '../policy-input.schema.ts'
import { type CelReader, readerOf, type SchemaNode } from './cel-type.ts'

/** Bounds on one expression; the time that it may take is bounded by its process. */
const LIMITS = { maxAstNodes: 1000, maxDepth: 40, maxListElements: 200, maxMapEntries: 50, maxCallArguments: 16 }

const MEMBERS = Object.entries((PolicyInput as unknown as SchemaNode).properties ?? {})

const environment = new Environment({ limits: LIMITS })
const readers: [name: string, read: CelReader][] = MEMBERS.map(([name, schema]) => {
  const { type, read } = readerOf(environment, name, schema)
  environment.registerVariable(name, type)
  return [name, read]
})

/** Knows every variable of the policy input with its type. */
export const celEnvironment: Environment = environment

/** The input in the form that expressions read. A member that is null is absent there: `has(run.branch)` asks for it. */
export function celInput(input: PolicyInput): Record<string, unknown> {
  return Object.fromEntries(readers.map(([name, read]) => [name, read(input[name as keyof PolicyInput])]))
}
