import { Box, type BoxProps, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { type HTMLAttributes, type ReactNode, useId } from 'react'
import { formatCount } from './numbers.ts'
import classes from './sections.module.css'

type SectionProps = {
  title: string
  /** How many things the section shows. */
  count?: number | undefined
  /** Controls beside the heading. */
  actions?: ReactNode
  children: ReactNode
}

/** A part of a page with a heading of its own. */
export function Section({ title, count, actions, children }: SectionProps) {
  const id = useId()
  return (
    <Stack component="section" gap="sm" aria-labelledby={id}>
      <Group justify="space-between">
        <Group gap={8} align="baseline">
          <Title order={2} id={id}>
            {title}
          </Title>
          {count !== undefined && (
            <Text span size="sm" c="dimmed">
              {formatCount(count)}
            </Text>
          )}
        </Group>
        {actions}
      </Group>
      {children}
    </Stack>
  )
}

type AccountSectionProps = {
  id: string
  title: string
  description: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A part of the account page, with an address of its own. */
export function AccountSection({ id, title, description, actions, children }: AccountSectionProps) {
  return (
    <Stack component="section" id={id} aria-labelledby={`${id}-title`} gap="sm" style={{ scrollMarginTop: 72 }}>
      <Group justify="space-between" align="flex-end" gap="sm">
        <Stack gap={2} flex="1 1 320px">
          <Title order={2} id={`${id}-title`}>
            {title}
          </Title>
          <Text size="sm" c="dimmed" component="div">
            {description}
          </Text>
        </Stack>
        {actions}
      </Group>
      <Paper p="md">{children}</Paper>
    </Stack>
  )
}

type FactsProps = {
  /** Facts without a value are left out. */
  facts: readonly (readonly [label: string, value: ReactNode])[]
}

/** What is known of an object, as names and values beside each other. */
export function Facts({ facts }: FactsProps) {
  return (
    <dl className={classes.facts}>
      {facts.map(
        ([label, value]) =>
          value !== null &&
          value !== undefined &&
          value !== false && (
            <Box key={label} miw={0}>
              <Text component="dt" size="xs" c="dimmed">
                {label}
              </Text>
              <Text component="dd" size="sm" m={0}>
                {value}
              </Text>
            </Box>
          ),
      )}
    </dl>
  )
}

type ScrollBoxProps = BoxProps & Omit<HTMLAttributes<HTMLDivElement>, keyof BoxProps> & { label: string }

/** A box whose content scrolls in it, also by keyboard, so that the page never scrolls sideways. */
export function ScrollBox({ label, style, ...props }: ScrollBoxProps) {
  return <Box role="group" aria-label={label} tabIndex={0} style={[{ overflow: 'auto' }, style]} {...props} />
}
