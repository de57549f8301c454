// For svelte-check, which looks for it.
export default {};
