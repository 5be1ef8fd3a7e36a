import { describeFailure } from './describe-failure.ts'

/** One line of the doctor's answer. `url` only with the database. */
export type Finding = { check: string; ok: boolean; detail: string; url?: string }

/** Runs a check; its failure is an answer too. */
export async function find(check: string, examine: () => Promise<Omit<Finding, 'check'>>): Promise<Finding> {
  try {
    return { check, ...(await examine()) }
  } catch (error) {
    return { check, ok: false, detail: describeFailure(error) }
  }
}
