import { useQuery } from '@tanstack/react-query'
import { firstStepQueries } from './routes.ts'

/** What a new organization has done already. Undefined while it is not known. */
export type StepStates = {
  hasUpload: boolean | undefined
  hasRun: boolean | undefined
  /** Nothing is there yet that Home could show. */
  isEmpty: boolean
  /** The first steps are shown: until there are runs and reports. */
  isNew: boolean
}

/** Which of the first steps are done. The live updates of runs and uploads tick them. */
export function useFirstSteps(org: string): StepStates {
  const queries = firstStepQueries(org)
  const uploads = useQuery(queries.uploads)
  const runs = useQuery(queries.runs)
  const hasUpload = uploads.data && uploads.data.data.length > 0
  const hasRun = runs.data && runs.data.data.length > 0
  return {
    ...{ hasUpload, hasRun },
    isEmpty: hasUpload === false && hasRun === false,
    isNew: hasUpload === false || hasRun === false,
  }
}
