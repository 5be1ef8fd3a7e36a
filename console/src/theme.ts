import {
  type BadgeProps,
  type ButtonProps,
  type ComboboxProps,
  createTheme,
  type MantineColorsTuple,
  type ModalProps,
  type PaperProps,
  type PasswordInputProps,
  type TableProps,
  type TooltipProps,
} from '@mantine/core'

/** By name, and not by component: that would load each of them with the first page. */
const DEFAULT_PROPS = {
  Badge: { defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 500 } satisfies BadgeProps },
  Button: { defaultProps: { size: 'sm' } satisfies ButtonProps },
  // A closed list of options would have the same label as its field.
  Combobox: { defaultProps: { keepMounted: false } satisfies ComboboxProps },
  Modal: {
    defaultProps: {
      centered: true,
      overlayProps: { backgroundOpacity: 0.4 },
      // What was in front is gone at once, so that the next key belongs to the page.
      transitionProps: { exitDuration: 0 },
      closeButtonProps: { 'aria-label': 'Close' },
      // Its `<header>` would be a second banner of the page.
      attributes: { header: { role: 'presentation' } },
    } satisfies Partial<ModalProps>,
  },
  Paper: { defaultProps: { withBorder: true } satisfies PaperProps },
  // Reachable by keyboard. Its name does not repeat "password", so that only the field has that label.
  PasswordInput: {
    defaultProps: {
      visibilityToggleButtonProps: { 'aria-label': 'Show or hide the characters', tabIndex: 0 },
    } satisfies PasswordInputProps,
  },
  Table: { defaultProps: { verticalSpacing: 'xs' } satisfies TableProps },
  Tooltip: {
    defaultProps: {
      openDelay: 300,
      withArrow: true,
      events: { hover: true, focus: true, touch: false },
    } satisfies Partial<TooltipProps>,
  },
}

/** Sizes, fonts and the accent colour. Colours that carry meaning are in theme.css. */
export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: 6,
  autoContrast: true,
  colors: {
    accent: [
      ...['#eef3ff', '#dce5fb', '#b5c8f3', '#8caaec', '#6a90e6'],
      ...['#5580e2', '#2f5fd0', '#2752b8', '#1e459f', '#133a88'],
    ] as unknown as MantineColorsTuple,
    // Bluish, as the surfaces of theme.css: text, borders, fields and the page of the dark theme.
    dark: [
      ...['#dfe3ea', '#b8bfca', '#9aa4b2', '#77808e', '#3a414d'],
      ...['#2a2f38', '#1c2028', '#14171c', '#101216', '#0b0d10'],
    ] as unknown as MantineColorsTuple,
  },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.375rem' }, h2: { fontSize: '1.0625rem' }, h3: { fontSize: '0.9375rem' } },
  },
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: DEFAULT_PROPS,
})
