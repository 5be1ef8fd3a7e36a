import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useOrganization } from '../api/session.ts'

type RepositoryFilterProps = {
  /** Where the page has another field for a repository. */
  label?: string
  /** `owner/name`. Undefined: no filter. */
  value: string | undefined
  onChange: (repository: string | undefined) => void
}

const TYPING_MS = 200
const CHOICES_MAX = 30

/** A filter by repository, chosen from those whose name contains what is typed. */
export function RepositoryFilter({ label = 'Repository', value, onChange }: RepositoryFilterProps) {
  const { slug: org } = useOrganization()
  const [typed, setTyped] = useState(value ?? '')
  const [isOpened, setOpened] = useState(false)
  // The chosen name stands in the field, and is no search.
  const [search] = useDebouncedValue(typed === value ? '' : typed.trim(), TYPING_MS)
  const query = api.useQuery(
    'get',
    '/app/api/orgs/{org}/repositories',
    { params: { path: { org }, query: { limit: CHOICES_MAX, ...(search && { search }) } } },
    { enabled: isOpened, placeholderData: keepPreviousData },
  )
  const names = query.data?.data.map(({ full_name }) => full_name) ?? []
  return (
    <Select
      label={label}
      placeholder="Any"
      size="xs"
      w={220}
      searchable
      clearable
      nothingFoundMessage={query.isFetching ? 'Searching' : 'No repository has this name'}
      // The server has searched.
      filter={({ options }) => options}
      data={[...new Set(value === undefined ? names : [value, ...names])]}
      value={value ?? null}
      onSearchChange={setTyped}
      onDropdownOpen={() => setOpened(true)}
      onChange={(chosen) => onChange(chosen ?? undefined)}
    />
  )
}
