import { useQueryClient } from '@tanstack/react-query'
import type { paths } from './schema.ts'

/** Reads again what is shown of some paths, after a change: `await refresh('/app/api/orgs/{org}/roles')`. */
export function useRefresh(): (...changed: (keyof paths)[]) => Promise<void> {
  const queries = useQueryClient()
  return async (...changed) => {
    await Promise.all(changed.map((path) => queries.invalidateQueries({ queryKey: ['get', path] })))
  }
}
