import { Box, type BoxProps } from '@mantine/core'
import type { HTMLAttributes } from 'react'

type ScrollBoxProps = BoxProps & Omit<HTMLAttributes<HTMLDivElement>, keyof BoxProps> & { label: string }

/** A box whose content scrolls in it, also by keyboard, so that the page never scrolls sideways. */
export function ScrollBox({ label, style, ...props }: ScrollBoxProps) {
  return <Box role="group" aria-label={label} tabIndex={0} style={[{ overflow: 'auto' }, style]} {...props} />
}
