import type { operations } from '../../api/schema.ts'

/** The plan of an organization, and what is used of it. */
export type Usage = operations['getUsage']['responses'][200]['content']['application/json']['data']
