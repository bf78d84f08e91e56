profile
HERE/assign_in_loop.gradstep
--fast
--runs
1