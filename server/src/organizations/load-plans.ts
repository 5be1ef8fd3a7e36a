import { BUILT_IN_PLANS, type Plan, type Plans } from './plan.ts'

/**
 * Returns the built-in plans, or those of `file` instead. Throws an error that names the first
 * mistake.
 */
export async function loadPlans(file: string | null): Promise<Plans> {
  const plans = file === null ? BUILT_IN_PLANS : await readPlans(file)
  return new Map(plans.map((plan) => [plan.name, plan]))
}

/** Loads the schema of the file only if there is one, because loading TypeBox takes 0.1 s. */
async function readPlans(file: string): Promise<Plan[]> {
  const { loadPlansFile } = await import('./load-plans-file.ts')
  return loadPlansFile(file)
}
