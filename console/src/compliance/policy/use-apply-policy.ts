import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../../api/client.ts'
import type { operations } from '../../api/schema.ts'
import { useOrganization } from '../../api/session.ts'

type Application = operations['applyPolicy']['requestBody']['content']['application/json']
type Applied = operations['applyPolicy']['responses'][201]['content']['application/json']['data']

/** Applies a policy file, and reads the policies again. */
export function useApplyPolicy() {
  const { slug: org } = useOrganization()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (body: Application): Promise<Applied> => {
      const { data } = await client.POST('/app/api/orgs/{org}/policies', { params: { path: { org } }, body })
      return (data as { data: Applied }).data
    },
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey }) => String(queryKey[1]).startsWith('/app/api/orgs/{org}/policies'),
      }),
  })
}
