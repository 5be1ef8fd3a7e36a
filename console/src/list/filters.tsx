import { Button, Group, Select, TextInput } from '@mantine/core'
import { IconFilter, IconSearch, IconX } from '@tabler/icons-react'
import { type ReactNode, useEffect, useId, useState } from 'react'
import classes from './filters.module.css'
import { useWhenTyped } from './use-when-typed.ts'

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

const TYPING_MS = 300

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
