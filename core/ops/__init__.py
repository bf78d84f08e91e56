"""What each op type is: one declaration, in one file per family."""
