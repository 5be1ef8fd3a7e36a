import { Button, Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDebouncedValue } from '@mantine/hooks'
import { IconFilter, IconSearch, IconX } from '@tabler/icons-react'
import { keepPreviousData } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { api } from '../api/client.ts'
import { useOrganization } from '../api/session.ts'
import { listText } from '../page/names.ts'
import classes from './filters.module.css'
import type { Period } from './search-params.ts'

const TYPING_MS = 300
const SEARCH_PAUSE_MS = 200
const CHOICES_MAX = 30

type FiltersProps = {
  children: ReactNode
  /** Whether any filter differs from its default. */
  isFiltered: boolean
  onClear: () => void
}

/**
 * The filters of a list. Their values live in the address, so that every view can be shared. On a
 * narrow screen they are behind a button.
 */
export function Filters({ children, isFiltered, onClear }: FiltersProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <Group component="search" gap="xs" align="flex-end">
      <Button
        hiddenFrom="sm"
        variant="default"
        leftSection={<IconFilter size={15} aria-hidden />}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        Filters
      </Button>
      <Group id={id} gap="xs" align="flex-end" className={classes.filters} data-open={isOpen || undefined}>
        {children}
      </Group>
      {isFiltered && <ClearFilters onClick={onClear} />}
    </Group>
  )
}

/** Shows everything again. */
export function ClearFilters({ onClick }: { onClick: () => void }) {
  return (
    <Button size="xs" variant="default" leftSection={<IconX size={14} aria-hidden />} onClick={onClick}>
      Clear filters
    </Button>
  )
}

type ChoiceProps<Value extends string> = {
  label: string
  /** Undefined: no filter. */
  value: Value | undefined
  options: readonly { value: Value; label: string }[]
  onChange: (value: Value | undefined) => void
  /** The width in px. */
  width?: number
  /** What it says without a value. */
  placeholder?: string
}

/** A filter with a few values. */
export function ChoiceFilter<Value extends string>(props: ChoiceProps<Value>) {
  const { label, value, options, onChange, width = 150, placeholder = 'Any' } = props
  return (
    <Select
      label={label}
      placeholder={placeholder}
      size="xs"
      w={width}
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      data={[...options]}
      value={value ?? null}
      onChange={(chosen) => onChange((chosen ?? undefined) as Value | undefined)}
    />
  )
}

type TextFilterProps = {
  label: string
  placeholder?: string
  value: string | undefined
  disabled?: boolean
  onChange: (value: string | undefined) => void
}

/** A filter by text, applied when the reader stops typing. */
export function TextFilter({ label, placeholder, value, disabled, onChange }: TextFilterProps) {
  const [text, setText] = useState(value ?? '')
  useEffect(() => setText(value ?? ''), [value])
  const apply = useWhenTyped((next: string) => onChange(next.trim() || undefined), TYPING_MS)
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      size="xs"
      w={220}
      leftSection={<IconSearch size={14} />}
      disabled={disabled}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        apply(currentTarget.value)
      }}
    />
  )
}

type PeriodFilterProps = { value: Period; onChange: (period: Period) => void }

/** A filter by the days on which something was created. */
export function PeriodFilter({ value: { since, until }, onChange }: PeriodFilterProps) {
  return (
    <>
      <TextInput
        type="date"
        label="From"
        size="xs"
        w={135}
        value={since ?? ''}
        max={until}
        onChange={({ currentTarget }) => onChange({ since: currentTarget.value || undefined, until })}
      />
      <TextInput
        type="date"
        label="To"
        size="xs"
        w={135}
        value={until ?? ''}
        min={since}
        onChange={({ currentTarget }) => onChange({ since, until: currentTarget.value || undefined })}
      />
    </>
  )
}

/**
 * Calls `change` when the reader stops typing. Not if they have gone on to another page, also while
 * that page is still being loaded: a late change of the address would bring them back.
 */
export function useWhenTyped<Args extends unknown[]>(change: (...args: Args) => void, pauseMs: number) {
  const router = useRouter()
  return useDebouncedCallback((...args: Args) => {
    const { resolvedLocation: shown } = router.state
    if (shown === undefined || shown.pathname === router.latestLocation.pathname) change(...args)
  }, pauseMs)
}

type RepositoryFilterProps = {
  /** Where the page has another field for a repository. */
  label?: string
  /** `owner/name`. Undefined: no filter. */
  value: string | undefined
  onChange: (repository: string | undefined) => void
}

/** What the code host of the chosen repository does not let the server read, so that lists lack it. */
function useUnreadLists(repository: string | undefined): string | undefined {
  const { slug: org } = useOrganization()
  const query = api.useQuery(
    'get',
    '/app/api/orgs/{org}/repositories',
    { params: { path: { org }, query: { limit: CHOICES_MAX, search: repository ?? '' } } },
    { enabled: repository !== undefined },
  )
  const chosen = query.data?.data.filter(({ full_name }) => full_name === repository) ?? []
  const lists = [...new Set(chosen.flatMap(({ refusals }) => refusals.map(({ list }) => listText(list))))]
  return lists.length === 0 ? undefined : `Not read from the code host: ${lists.join(', ')}`
}

/** A filter by repository, chosen from those whose name contains what is typed. */
export function RepositoryFilter({ label = 'Repository', value, onChange }: RepositoryFilterProps) {
  const { slug: org } = useOrganization()
  const [typed, setTyped] = useState(value ?? '')
  const [isOpened, setOpened] = useState(false)
  // The chosen name stands in the field, and is no search.
  const [search] = useDebouncedValue(typed === value ? '' : typed.trim(), SEARCH_PAUSE_MS)
  const query = api.useQuery(
    'get',
    '/app/api/orgs/{org}/repositories',
    { params: { path: { org }, query: { limit: CHOICES_MAX, ...(search && { search }) } } },
    { enabled: isOpened, placeholderData: keepPreviousData },
  )
  const names = query.data?.data.map(({ full_name }) => full_name) ?? []
  const unread = useUnreadLists(value)
  return (
    <Select
      label={label}
      description={unread}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
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
