import { readFile } from 'node:fs/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { PLAN_FEATURES, type Plan } from './plan.ts'

const Count = Type.Integer({ minimum: 0 })
const PlansFile = Type.Array(
  Type.Object(
    {
      name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' }),
      features: Type.Array(Type.Union(PLAN_FEATURES.map((feature) => Type.Literal(feature)))),
      retention_days: Type.Integer({ minimum: 1 }),
      security_report_bytes_max: Count,
      security_uploads_per_commit_max: Count,
      artifact_bytes_max: Count,
      artifact_bytes_per_run_max: Count,
      artifact_bytes_per_month_max: Type.Union([Count, Type.Null()]),
      ci_runs_per_month_max: Type.Union([Count, Type.Null()]),
    },
    { additionalProperties: false },
  ),
  { minItems: 1 },
)

/** Reads the plans of SHIPLOCK_PLANS_FILE. Throws an error that names the first mistake. */
export async function loadPlansFile(file: string): Promise<Plan[]> {
  const content = await readJson(file)
  if (!Value.Check(PlansFile, content)) {
    const [mistake] = Value.Errors(PlansFile, content)
    throw new Error(`SHIPLOCK_PLANS_FILE ${file}: ${mistake?.instancePath || '/'} ${mistake?.message}`)
  }
  const plans = content as Plan[]
  const names = plans.map((plan) => plan.name)
  const duplicate = names.find((name, index) => names.indexOf(name) !== index)
  if (duplicate !== undefined) throw new Error(`SHIPLOCK_PLANS_FILE ${file}: two plans are named ${duplicate}`)
  return plans
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    throw new Error(`SHIPLOCK_PLANS_FILE ${file}: ${(cause as Error).message}`, { cause })
  }
}
