import { Ajv } from 'ajv'
import { isTimestamp } from '../../platform/http/validation.ts'
import { lazy } from '../../platform/lazy.ts'
import { createPlainEnvironment, NO_CHANGE, NO_EVIDENCE, PolicyInput } from './policy-input.schema.ts'

const MISTAKES_MAX = 20

const compiled = lazy(() => {
  const ajv = new Ajv({ allErrors: true, strict: false })
  ajv.addFormat('date-time', { type: 'string', validate: isTimestamp })
  return ajv.compile<PolicyInput>(PolicyInput)
})

/**
 * Reads a policy input from JSON. Throws an error that lists each mistake with its JSON pointer.
 */
export function parsePolicyInput(text: string): PolicyInput {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Error(`The input is not valid JSON: ${(cause as Error).message}`, { cause })
  }
  const complete = withLaterMembers(value)
  const check = compiled()
  if (check(complete)) return complete
  const mistakes = (check.errors ?? []).slice(0, MISTAKES_MAX).map(({ instancePath, message, params }) => {
    const extra = 'additionalProperty' in params ? `: ${params.additionalProperty}` : ''
    return `${instancePath || '/'} ${message}${extra}`
  })
  throw new Error(`The input does not match docs/policy-input.schema.json: ${mistakes.join('; ')}`)
}

/** Adds members that the input did not have at first, so that earlier documents stay valid. */
function withLaterMembers(value: unknown): unknown {
  if (!isObject(value)) return value
  const { environment } = value
  const isNamed = isObject(environment) && typeof environment.name === 'string'
  const complete = isNamed ? { ...createPlainEnvironment(environment.name as string), ...environment } : environment
  const scans = Array.isArray(value.scans) && {
    scans: value.scans.map((scan) => (isObject(scan) ? { tracked: true, ...scan } : scan)),
  }
  const evidence = isObject(value.evidence) ? { ...NO_EVIDENCE, ...value.evidence } : NO_EVIDENCE
  return { ...NO_CHANGE, ...value, ...scans, evidence, ...(isNamed && { environment: complete }) }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
