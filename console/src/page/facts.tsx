import { Box, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './facts.module.css'

type FactsProps = {
  /** Facts whose value is null are left out. */
  facts: readonly (readonly [label: string, value: ReactNode])[]
}

/** What is known of an object, as names and values beside each other. */
export function Facts({ facts }: FactsProps) {
  return (
    <dl className={classes.facts}>
      {facts.map(
        ([label, value]) =>
          value !== null && (
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
