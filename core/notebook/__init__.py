"""Behind the names of `import gradstep`: documents and the debugger in scripts and notebooks."""
